module whichtool.example/find

go 1.21
