# A catalogue with recorded use.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add samples/catalogue
whichtool -q usage add samples/usages.jsonl
