# The store of docs/index.md: tools.wt in the current folder.
whichtool -q add samples/catalogue
