"""The way down from parameters and checked data to a frozen plan, and the way up from machines to attributes."""
