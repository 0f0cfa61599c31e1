"""Chrome traces and host logs: spans, instants, counters and flows on lanes of processes and threads."""
