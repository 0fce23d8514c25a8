package render

import (
	"strings"

	"cloudburst/feed"
)

// defined reports an element that its vocabulary has. Those that are known are closed:
// validators call any other element of theirs an error, and no program knows what to
// make of it. Vocabularies of which nothing is known, or that still grow, have all.
//
// spec:datafeeds-2006#known-vocabularies
func defined(s space, n *feed.Node, ofItem bool) bool {
	names := ""
	switch s {
	case spNone, spMedia, spPodcast, spPSC, spSource, spRSSCloud, spXHTML:
		return true
	case spDC:
		names = " title description creator subject date publisher contributor type format identifier source language relation coverage rights "
	case spDCTerms:
		names = " alternative abstract tableOfContents created valid available issued modified dateAccepted dateCopyrighted dateSubmitted extent " +
			"isVersionOf hasVersion isReplacedBy replaces isRequiredBy requires isPartOf hasPart isReferencedBy references isFormatOf hasFormat " +
			"conformsTo spatial temporal audience mediator accessRights accrualMethod accrualPeriodicity accrualPolicy bibliographicCitation " +
			"educationLevel instructionalMethod license provenance rightsHolder "
	case spGeo:
		names = " Point lat long alt "
	case spRDF:
		names = " RDF Description type "
	default:
		names = definedOf(s, ofItem)
	}
	return strings.Contains(names, " "+n.Name+" ")
}

// definedOf is defined for vocabularies with elements of feeds and of items.
func definedOf(s space, ofItem bool) string {
	switch {
	case s == spContent && ofItem:
		return " items "
	case s == spITunes && !ofItem:
		return " pubDate applepodcastsverify "
	case s == spFeedburner && ofItem:
		return " awareness "
	case s == spFeedburner:
		return " awareness emailServiceId feedFlare info feedburnerHostname "
	case s == spApp && !ofItem:
		return " collection "
	case s == spOpenSearch && !ofItem:
		return " Query "
	case s == spHistory && !ofItem:
		return " complete "
	}
	return ""
}
