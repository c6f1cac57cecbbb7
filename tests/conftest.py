from hypothesis import settings

settings.register_profile("maxmargin", deadline=None, max_examples=20, derandomize=True)
settings.load_profile("maxmargin")
