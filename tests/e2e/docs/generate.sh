# A catalogue that was used.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add samples/catalogue
whichtool -q usage add samples/usages.jsonl
