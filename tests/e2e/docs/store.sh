# The store of docs/store.md: tools.wt in the current folder.
whichtool -q add samples/catalogue
