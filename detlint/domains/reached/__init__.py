"""Whether anything ever comes to a definition, and whether anything reads what a site gives: by names in all files, by what a class of
layers is asked, by what surely raises. What isn't known may be come to.
"""
