"""Chrome traces and host logs of a run on the timeline."""
