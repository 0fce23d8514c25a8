package render

import (
	"strings"

	"cloudburst/feed"
)

// defined reports whether a vocabulary may contain an element. Most known vocabularies are
// complete: validators report any other element as an error, and no program understands it. Unknown
// vocabularies, and those that are still extended, may contain any element.
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

// definedOf returns the elements that a vocabulary has for feeds or for items.
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
