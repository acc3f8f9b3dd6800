# A catalogue and a log of its use.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add samples/catalogue
cp samples/usages.jsonl log.jsonl
