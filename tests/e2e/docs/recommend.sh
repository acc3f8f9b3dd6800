# A catalogue with enough recorded use to calibrate the size of complete sets.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add samples/catalogue
whichtool -q usage add samples/usages.jsonl
sed 's/"request": *"/&Please, /' samples/usages.jsonl >politely.jsonl
whichtool -q usage add politely.jsonl
whichtool -q train neighbours
whichtool -q train auto
whichtool -q train set
