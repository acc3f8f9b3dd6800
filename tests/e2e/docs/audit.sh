# Two catalogues without findings.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add samples/catalogue
whichtool -q add --provider github samples/catalogue/mcp/branchwork.json
