"""maxmargin"""
