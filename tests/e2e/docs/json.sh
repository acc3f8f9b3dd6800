# The catalogue of docs/json.md.
whichtool -q add samples/catalogue
