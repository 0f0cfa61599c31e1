"""What the analyses show wherever they are shown: tables, figures, curves, summaries, cards. No feature of its own."""
