"""Results as data, and as tables and pages to read."""
