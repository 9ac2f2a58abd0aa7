"""The HTML report: what is in it (Python), how it looks (templates/report.*)."""
