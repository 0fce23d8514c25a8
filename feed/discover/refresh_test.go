package discover_test

import (
	"testing"

	"cloudburst/feed/discover"
)

func TestRefreshReturnsTargetOfMetaRefresh(t *testing.T) {
	t.Parallel()
	const page = "http://a.example/old/page"
	for meta, want := range map[string]string{
		`<meta http-equiv="refresh" content="0; url=/new">`:                                            "http://a.example/new",
		`<META HTTP-EQUIV=Refresh CONTENT="5;URL='http://b.example/x'">`:                               "http://b.example/x",
		`<meta content='0,"feed.xml"' http-equiv=refresh>`:                                             "http://a.example/old/feed.xml",
		`<meta http-equiv="refresh" content=".5 http://b.example/">`:                                   "http://b.example/",
		`<noscript><meta http-equiv="refresh" content="0;url=plain"></noscript>`:                       "http://a.example/old/plain",
		`<base href="/b/"><meta http-equiv="refresh" content="0; url = c">`:                            "http://a.example/b/c",
		`<meta http-equiv="refresh" content="0;url=/1"><meta http-equiv="refresh" content="0;url=/2">`: "http://a.example/1",
		`<meta http-equiv="refresh" content="300">`:                                                    "",
		`<meta http-equiv="refresh" content="300; url=/later">`:                                        "",
		`<meta http-equiv="refresh" content="soon; url=/new">`:                                         "",
		`<meta http-equiv="refresh" content="0; url=javascript:alert(1)">`:                             "",
		`<meta http-equiv="refresh" content="0; url=">`:                                                "",
		`<meta name="refresh" content="0; url=/new">`:                                                  "",
		`<template><meta http-equiv="refresh" content="0; url=/new"></template>`:                       "",
		`<!-- <meta http-equiv="refresh" content="0; url=/new"> -->`:                                   "",
	} {
		if got := discover.HTML([]byte("<!doctype html><title>Moved</title>"+meta+"<p>Moved."), page, nil).Refresh; got != want {
			t.Errorf("%s leads to %q, want %q", meta, got, want)
		}
	}
}
