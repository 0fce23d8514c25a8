package upstream_test

import "cloudburst/internal/hub"

func hubQuery(kind string) hub.EventQuery { return hub.EventQuery{Kinds: []string{kind}, Limit: 1000} }
