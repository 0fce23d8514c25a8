package render

import "strings"

// part is the rule of a published vocabulary for an element in a place.
type part struct {
	check string // kind of its text, as in judge.value; none: no text is allowed; any: any text is allowed
	many  bool   // the element may be repeated
	twice bool   // the element may be repeated, but readers handle only one
	newer bool   // the element is from a revision that many validators do not know
	attrs map[string]string
	in    string // name of the place that defines its children
}

// vocabulary parses lines of the form "name* check attr=check! >place": * means that the element
// may be repeated, ~ that it should not be repeated, + that it belongs to a later revision. ! marks
// a required attribute.
func vocabulary(lists ...string) map[string]part {
	parts := map[string]part{}
	for _, list := range lists {
		for line := range strings.Lines(list) {
			words := strings.Fields(line)
			if len(words) < 2 {
				continue
			}
			name := strings.TrimRight(words[0], "*~+")
			marks := words[0][len(name):]
			p := part{check: words[1], many: strings.Contains(marks, "*"), twice: strings.Contains(marks, "~"), newer: strings.Contains(marks, "+"), attrs: map[string]string{}}
			for _, w := range words[2:] {
				if in, ok := strings.CutPrefix(w, ">"); ok {
					p.in = in
					continue
				}
				attr, check, _ := strings.Cut(w, "=")
				p.attrs[attr] = check
			}
			parts[name] = p
		}
	}
	return parts
}

// places returns the allowed children of each place. The key is the name of the place.
func places() map[string]map[string]part {
	return map[string]map[string]part{
		"rss":             vocabulary("channel none >channel"),
		"channel":         vocabulary(rssChannel, anywhere, ofFeeds, ofBoth, atomOfRSS, podcastOfBoth, podcastOfFeeds),
		"item":            vocabulary(rssItem, anywhere, ofItems, ofBoth, atomOfRSS, podcastOfBoth, podcastOfItems, "trackback:ping url\ntrackback:about* url"),
		"image":           vocabulary(rssImage, anywhere),
		"textInput":       vocabulary(rssInput, anywhere),
		"skipHours":       vocabulary("hour* hour"),
		"skipDays":        vocabulary("day* day"),
		"rdf":             vocabulary("channel none rdf:about=rdfuri! >rdf.channel\nitem* none rdf:about=rdfuri! >rdf.item\nimage none rdf:about=rdfuri! >image\ntextinput none rdf:about=rdfuri! >textInput"),
		"rss090":          vocabulary("channel none >rdf.channel\nitem* none >rdf.item\nimage none >image\ntextinput none >textInput"),
		"rdf.channel":     vocabulary(rdfChannel, anywhere, ofFeeds, ofBoth, atomOfRSS, podcastOfBoth, podcastOfFeeds),
		"rdf.item":        vocabulary(rdfItem, anywhere, ofItems, ofBoth, atomOfRSS, podcastOfBoth, podcastOfItems),
		"rdf.items":       vocabulary("rdf:Seq none >rdf.seq"),
		"rdf.seq":         vocabulary("rdf:li* none rdf:resource=rdfuri!"),
		"feed":            vocabulary(atomFeed, atomBoth, anywhere, ofFeeds, ofBoth, "dc:date w3c\ndc:creator* text\ndc:subject* text\ncreativeCommons:license* url", podcastOfBoth, podcastOfFeeds),
		"entry":           vocabulary(atomEntry, atomBoth, anywhere, ofItems, ofBoth, "dc:date w3c\ndc:creator* text\ndc:subject* text\ncreativeCommons:license* url", podcastOfBoth, podcastOfItems),
		"atom.source":     vocabulary(atomFeed, atomBoth),
		"person":          vocabulary("name filled\nuri iri\nemail mail"),
		"atom.person":     vocabulary("atom:name filled\natom:uri iri\natom:email mail"),
		"app.control":     vocabulary("app:draft yesno"),
		"itunes.owner":    vocabulary("itunes:name short\nitunes:email mail"),
		"itunes.sub":      vocabulary("itunes:category* none text=any!"),
		"media.group":     vocabulary(mediaParts, mediaContent),
		"media.content":   vocabulary(mediaParts, anywhere),
		"media.community": vocabulary("media:starRating none average=any count=any min=any max=any\nmedia:statistics none views=any favorites=any\nmedia:tags text"),
		"geo.point":       vocabulary("geo:lat lat\ngeo:long long"),
		"georss.where":    vocabulary("gml:Point none srsName=any srsDimension=any >gml.point\ngml:LineString none srsName=any srsDimension=any >gml.line\ngml:Polygon none srsName=any srsDimension=any >gml.polygon\ngml:Envelope none srsName=any srsDimension=any >gml.envelope"),
		"gml.point":       vocabulary("gml:pos pos"),
		"gml.line":        vocabulary("gml:posList list"),
		"gml.polygon":     vocabulary("gml:exterior none >gml.ring\ngml:interior*+ none >gml.ring"),
		"gml.ring":        vocabulary("gml:LinearRing none srsName=any srsDimension=any >gml.line"),
		"gml.envelope":    vocabulary("gml:lowerCorner pos\ngml:upperCorner pos"),
		"rss093":          vocabulary("channel none >channel093"),
		"rss094":          vocabulary("channel none >channel094"),
		"channel093":      vocabulary(rssChannel, "item* none >item093"),
		"channel094":      vocabulary(rssChannel, "item* none >item094"),
		"item093":         vocabulary(rssItem, "expirationDate rfc822"),
		"item094":         vocabulary(rssItem, "expirationDate rfc822\ndescription html type=mime"),
		"cdf":             vocabulary(cdfRoot),
		"cdf.channel":     vocabulary(cdfChannel, cdfBoth),
		"cdf.item":        vocabulary(cdfBoth),
		"cdf kept":        vocabulary(strings.ReplaceAll(cdfRoot, ">cdf.channel", ">cdf.kept")),
		"cdf.kept":        vocabulary(strings.ReplaceAll(strings.ReplaceAll(cdfChannel, ">cdf.channel", ">cdf.kept"), ">cdf.item", ">cdf.kept"), cdfBoth, cdfOwn),
		"cdf.schedule":    vocabulary("INTERVALTIME none " + cdfSpan + "\nEARLIESTTIME none " + cdfSpan + "\nLATESTTIME none " + cdfSpan),
		"news":            vocabulary("header none >news.header\nitem* none >news.item"),
		"news.header":     vocabulary(newsHeader),
		"news.item":       vocabulary("text filled\nlink* none >news.link"),
		"news.link":       vocabulary("url url\nlinetext filled"),
		"opml":            vocabulary("head none >opml.head\nbody none >opml.body"),
		"opml.head":       vocabulary("title html\ndateCreated rfc822\ndateModified rfc822\nownerName html\nownerEmail mail\nownerId http\nexpansionState any\nvertScrollState positive\nwindowTop positive\nwindowLeft positive\nwindowBottom positive\nwindowRight positive", anywhere),
		"opml.body":       vocabulary(opmlOutline, anywhere),
	}
}

const opmlOutline = `outline* none text=any! type=any url=url xmlUrl=any htmlUrl=url title=any description=any created=rfc822 category=any language=language version=any isComment=truefalse isBreakpoint=truefalse >opml.body`

const cdfRoot = "CHANNEL none HREF=url! LASTMOD=moment SELF=url PRECACHE=yesno LEVEL=count ISCLONABLE=yesno >cdf.channel"

// cdfOwn lists elements that only CDF has. They are preserved in a feed that was read from CDF.
const cdfOwn = `
LOGO* any *=any
Logo* any *=any
LOGTARGET* any *=any
LOG* any *=any
LOGIN* any *=any
USAGE* any *=any
UserSchedule* any *=any
MinStorage* any *=any
`

// spec:cdf-1997#written
const cdfChannel = `
CHANNEL* none HREF=url! LASTMOD=moment PRECACHE=yesno LEVEL=count ISCLONABLE=yesno >cdf.channel
ITEM* none HREF=url! LASTMOD=moment PRECACHE=yesno LEVEL=count >cdf.item
RATINGS none VALUE=any!
SCHEDULE none STARTDATE=ymd STOPDATE=ymd TIMEZONE=zone >cdf.schedule
`

const cdfBoth = `
TITLE filled
ABSTRACT text
LOGO* none HREF=url! STYLE=logo!
A* text HREF=url!
AUTHOR* none VALUE=any!
PUBLISHER none VALUE=any!
COPYRIGHT none VALUE=any!
PUBLICATIONDATE none VALUE=moment!
CATEGORY* none VALUE=any!
`

const cdfSpan = "DAY=count HOUR=count MIN=count SEC=count TIMEZONE=zone"

// spec:scriptingnews2-1999#header
const newsHeader = `
scriptingNewsVersion news
copyright nonhtml
whichChannel text
channelTitle text
channelDescription html
channelLink url
language language
managingEditor person
webMaster person
pubDate rfc822
lastBuildDate rfc822
docs url
rating text
skipHours none >skipHours
skipDays none >skipDays
imageTitle text
imageUrl url
imageLink url
imageWidth positive
imageHeight positive
imageCaption text
`

const rssChannel = `
title filled
link url
description nonhtml
language language
copyright nonhtml
managingEditor person
webMaster person
pubDate rfc822
lastBuildDate rfc822
category* nonhtml domain=any
generator text
docs url
rating text
cloud none domain=any! port=positive! path=any! registerProcedure=any! protocol=any!
ttl positive
image none >image
textInput none >textInput
skipHours none >skipHours
skipDays none >skipDays
item* none >item
`

const rssItem = `
title filled
link url
description html
author person
category* filled domain=any
comments url
enclosure~ none url=http! length=count! type=mime!
guid guid isPermaLink=truefalse
pubDate rfc822
source nonhtml url=url!
`

const rssImage = "title filled\nurl url\nlink url\nwidth width\nheight height\ndescription nonhtml\ndc:creator* text\ndc:subject* text\ndc:date w3c"
const rssInput = "title filled\ndescription text\nname formname\nlink url"
const rdfChannel = "title filled\nlink url\ndescription nonhtml\nimage none rdf:resource=rdfuri!\nitems none >rdf.items\ntextinput none rdf:resource=rdfuri!"
const rdfItem = "title filled\nlink url\ndescription html"

// atomOfRSS lists the Atom and Dublin Core elements that RSS allows.
const atomOfRSS = `
atom:author none >atom.person
atom:contributor* none >atom.person
atom:category* none term=any! scheme=url label=nonhtml
atom:generator filled uri=iri version=any
atom:id url
atom:icon iri
atom:logo iri
atom:link* none href=iri! rel=relation type=mime hreflang=language title=filled length=count thr:count=count thr:updated=rfc3339
atom:title any type=any
atom:subtitle any type=any
atom:summary any type=any
atom:rights any type=any
atom:updated rfc3339
atom:published rfc3339
dc:creator* text
dc:subject* text
dc:date w3c
content:encoded html
creativeCommons:license* url
cc:license* none rdf:resource=rdfuri!
`

const atomBoth = `
title any type=texttype
id id
updated rfc3339
rights any type=texttype
author* none >person
contributor* none >person
category* none term=filled! scheme=url label=nonhtml
link* none href=iri! rel=relation type=mime hreflang=language title=filled length=count thr:count=count thr:updated=rfc3339
`
const atomFeed = "app:collection any href=any\nsubtitle any type=texttype\ngenerator filled uri=iri version=any\nicon uri\nlogo uri\nentry* none >entry"
const atomEntry = "published rfc3339\nsummary any type=texttype\ncontent any type=any src=iri\nsource none >atom.source\napp:edited rfc3339\napp:control none >app.control"

// anywhere lists the module elements allowed in feeds, items, images, forms and files.
const anywhere = `
dc:title text
dc:description text
dc:publisher* text
dc:contributor* text
dc:type text
dc:format text
dc:identifier* text
dc:source text
dc:language language
dc:relation* text
dc:coverage* text
dc:rights nonhtml
dcterms:alternative* text
dcterms:abstract text
dcterms:created w3c
dcterms:issued w3c
dcterms:modified w3c
dcterms:valid* any
dcterms:available* any
dcterms:license* any
dcterms:rightsHolder* any
dcterms:spatial* any
dcterms:temporal* any
dcterms:audience* text
dcterms:isPartOf* any *=any
dcterms:references* any *=any
dcterms:extent text
rdf:type* any
rdf:Description* any
rdfs:seeAlso* any
geo:Point* none >geo.point
geo:lat* lat
geo:long* long
geo:alt* decimal
georss:where* none >georss.where
georss:point* pos
georss:line* list
georss:polygon* list
georss:box*+ list
georss:circle*+ any
georss:featureTypeTag* text
georss:relationshipTag* text
georss:featureName* text
georss:elev* decimal
georss:floor* integer
georss:radius* decimal
`

const ofFeeds = `
admin:generatorAgent none rdf:resource=uri!
admin:errorReportsTo none rdf:resource=uri!
blogChannel:blogRoll url
blogChannel:mySubscriptions url
blogChannel:blink url
blogChannel:changes url
sy:updatePeriod period
sy:updateFrequency positive
sy:updateBase w3c
feedburner:awareness url
feedburner:browserFriendly nonhtml
feedburner:emailServiceId any
feedburner:feedFlare* nonhtml href=any! src=any!
feedburner:info none uri=any!
feedburner:feedburnerHostname url
opensearch:totalResults count
opensearch:startIndex integer
opensearch:itemsPerPage count
opensearch:Query* any *=any
fh:archive none
fh:complete none
thr:in-reply-to* none href=iri ref=url source=iri type=mime
`

const ofItems = `
slash:comments count
slash:section* text
slash:department* text
slash:hit_parade integers
thr:total count
thr:in-reply-to* none href=iri ref=url source=iri type=mime
wfw:comment url
content:items any
wfw:commentRss url
feedburner:awareness url
feedburner:origLink url
feedburner:origEnclosureLink url
` + mediaContent + "\nmedia:group* none >media.group"

const mediaContent = `media:content* none bitrate=float channels=count duration=float expression=expression fileSize=positive framerate=float height=positive isDefault=truefalse lang=language medium=medium samplingrate=float type=mime url=url width=positive >media.content`

const ofBoth = mediaParts

const mediaParts = `
media:adult truefalse
media:futureThing+ any
media:category* text label=nonhtml scheme=url
media:copyright text url=url
media:credit* text role=any scheme=url
media:description any type=plainhtml
media:keywords* text
media:hash* any algo=any
media:player* any url=url! width=positive height=positive
media:rating* text scheme=any
media:restriction* text relationship=allowdeny! type=any
media:text* any type=plainhtml lang=language start=time end=time
media:title any type=plainhtml
media:thumbnail* none url=url! width=positive height=positive time=time
media:community+ none >media.community
media:comments+ any
media:embed+ any url=url width=any height=any
media:responses+ any
media:backLinks+ any
media:status+ none state=any reason=any
media:price*+ none type=any info=any price=any currency=any
media:license*+ text type=mime href=url lang=language
media:subTitle*+ text type=mime href=url lang=language
media:peerLink*+ text type=mime href=url lang=language
media:location*+ any description=any start=any end=any
media:rights+ none status=any
media:scenes+ any
`

const podcastOfBoth = `
itunes:author short
itunes:block yesno
itunes:explicit truefalse
itunes:keywords short
itunes:subtitle short
itunes:summary summary
itunes:image none href=http!
`
const podcastOfFeeds = `
itunes:owner none >itunes.owner
itunes:category* none text=any! >itunes.sub
itunes:pubDate rfc822
itunes:new-feed-url url
itunes:type channeltype
itunes:title+ text
itunes:complete+ text
itunes:applepodcastsverify+ text
`
const podcastOfItems = `
itunes:duration duration
itunes:title text
itunes:episode positive
itunes:season positive
itunes:episodeType episodetype
itunes:order+ integer
itunes:isClosedCaptioned+ text
`
