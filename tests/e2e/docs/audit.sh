# Two catalogues in which nothing is wrong.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add samples/catalogue
whichtool -q add --provider github samples/catalogue/mcp/branchwork.json
