"""The performance panel beside the swimlane: what each tab shows, and what can be done with a row."""
