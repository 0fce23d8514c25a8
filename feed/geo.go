package feed

import (
	"math"
	"strconv"
	"strings"
	"unsafe"

	"cloudburst/internal/geo"
	"cloudburst/internal/scan"
)

// maxPoints is the maximum number of points of one geometry.
const maxPoints = 10_000

// geo reads a place in any of the three vocabularies: GeoRSS, GML and W3C geo.
func (p *parser) geo(to *[]Geometry) bool {
	g := Geometry{
		FeatureName: p.attr("featurename"), FeatureType: p.attr("featuretypetag"), Relation: p.attr("relationshiptag"),
		Elevation: p.attr("elev"), Floor: p.attr("floor"),
	}
	switch p.r.Local {
	case "point":
		if p.r.Space == nsGeo { // <geo:Point><geo:lat/><geo:long/></geo:Point>
			p.inside(func() bool { return p.geo(to) })
			return true
		}
		p.gmlShape(&g, "Point")
	case "line", "linestring":
		p.gmlShape(&g, "LineString")
	case "polygon":
		p.gmlShape(&g, "Polygon")
	case "box", "envelope":
		p.gmlShape(&g, "Box")
	case "circle":
		p.circle(&g)
	case "where", "multipoint", "multilinestring", "multicurve", "multipolygon", "multisurface", "multigeometry",
		"pointmember", "pointmembers", "linestringmember", "curvemember", "polygonmember", "surfacemember", "geometrymember":
		p.inside(func() bool { return p.geo(to) })
		return true
	case "lat", "long", "lon":
		p.latLong(to)
		return true
	default:
		return p.geoNote(to)
	}
	if len(g.Coordinates) > 0 && len(*to) < 100 && p.budget.take(len(g.Coordinates)*int(unsafe.Sizeof([]float64{})+2*unsafe.Sizeof(float64(0)))) {
		*to = appendBudgeted(&p.budget, *to, g)
	}
	return true
}

// geoNote reads the GeoRSS elements that describe the geometry before them.
func (p *parser) geoNote(to *[]Geometry) bool {
	if len(*to) == 0 || p.r.Space != nsGeoRSS {
		return false
	}
	g := &(*to)[len(*to)-1]
	switch p.r.Local {
	case "featurename":
		g.FeatureName = p.leaf()
	case "featuretypetag":
		g.FeatureType = p.leaf()
	case "relationshiptag":
		g.Relation = p.leaf()
	case "elev":
		g.Elevation = p.leaf()
	case "floor":
		g.Floor = p.leaf()
	case "radius":
		raw := p.leaf()
		var err error
		if g.Radius, err = strconv.ParseFloat(raw, 64); err != nil || math.IsNaN(g.Radius) || math.IsInf(g.Radius, 0) {
			g.Radius = 0
			p.keepText(p.r.Name, raw)
		}
	default:
		return false
	}
	return true
}

// gmlShape reads the coordinates of a shape from its text or from gml:pos, gml:posList or
// gml:coordinates.
func (p *parser) gmlShape(g *Geometry, kind string) {
	at := p.r.Offset()
	g.Type, g.SRS = kind, p.attr("srsname")
	size := 2
	if p.attr("srsdimension") == "3" {
		size = 3
	}
	var holes []string
	name := p.r.Name
	raw := p.positions(&size, &holes)
	first := geo.LongitudeFirst(g.SRS)
	points, whole := pairs(raw, size, first)
	g.Coordinates = points
	if !whole && raw != "" {
		p.problem(ProblemValue, at, "These coordinates cannot be read: "+quote(raw)+".")
		p.keepText(name, raw)
	}
	for _, raw := range holes {
		if points, ok := pairs(raw, size, first); ok && g.Coordinates != nil {
			g.Holes = appendBudgeted(&p.budget, g.Holes, points)
		} else {
			p.keepText(name, raw)
		}
	}
}

// positions returns the text of a shape, and appends the texts of its holes to holes.
func (p *parser) positions(size *int, holes *[]string) string {
	text, markup := p.r.Leaf()
	if !markup {
		return text
	}
	var all []string
	p.each(func() {
		if p.attr("srsdimension") == "3" {
			*size = 3
		}
		if p.r.Local == "interior" || p.r.Local == "innerboundaryis" {
			*holes = append(*holes, p.positions(size, holes))
			return
		}
		all = appendBudgeted(&p.budget, all, p.positions(size, holes))
	})
	return strings.Join(all, " ")
}

// pairs parses points of size numbers each. The result has the longitude first, as in GeoJSON;
// lonFirst reports that s has the longitude first, too; in GeoRSS the latitude is first. whole is
// false if s is not a list of numbers, or if numbers remain after the last complete point.
func pairs(s string, size int, lonFirst bool) (points [][]float64, whole bool) {
	var flat []float64
	for word := range strings.FieldsFuncSeq(s, func(c rune) bool { return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' }) {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || n != n || n > 1e12 || n < -1e12 || len(flat) >= maxPoints*size {
			return nil, false
		}
		if flat == nil {
			flat = make([]float64, 0, min(len(s)/2+1, 2*size))
		}
		flat = append(flat, n)
	}
	n := len(flat) / size
	if n == 0 {
		return nil, false
	}
	points = make([][]float64, 0, n)
	for i := 0; i < n*size; i += size {
		point := flat[i : i+size : i+size]
		if !lonFirst {
			point[0], point[1] = point[1], point[0]
		}
		points = append(points, point)
	}
	return points, n*size == len(flat)
}

// circle reads a circle in the form "lat lon radius".
func (p *parser) circle(g *Geometry) {
	at := p.r.Offset()
	raw := p.leaf()
	points, ok := pairs(raw, 3, false)
	if !ok || len(points) != 1 {
		p.problem(ProblemValue, at, "This circle cannot be read: "+quote(raw)+".")
		p.keepText(p.r.Name, raw)
		return
	}
	g.Type, g.Radius = "Circle", points[0][2]
	g.Coordinates = [][]float64{points[0][:2]}
}

// halfPoint is a point whose latitude and longitude are in separate elements. It is incomplete
// until both are read.
type halfPoint struct {
	to              *[]Geometry
	lat, long       float64
	hasLat, hasLong bool
	first           Node // the element that was read first
	rest            *[]Node
}

// dropHalfPoint stores the first element of an incomplete point as an unknown element.
func (p *parser) dropHalfPoint() {
	if h := &p.half; h.rest != nil {
		if p.countUnknown(len(h.first.Space)) {
			*h.rest = append(*h.rest, h.first)
		}
		*h = halfPoint{}
	}
}

// latLong reads geo:lat or geo:long; the second of the two completes the point.
func (p *parser) latLong(to *[]Geometry) {
	at, name := p.r.Offset(), p.r.Local
	raw := p.leaf()
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil || n != n || n > 1e12 || n < -1e12 {
		if raw != "" {
			p.problem(ProblemValue, at, "This is not a latitude or longitude: "+quote(raw)+".")
			p.keepText(p.r.Name, raw)
		}
		return
	}
	h := &p.half
	if h.to != to || name == "lat" && h.hasLat || name != "lat" && h.hasLong {
		p.dropHalfPoint()
		*h = halfPoint{to: to}
	}
	if name == "lat" {
		h.lat, h.hasLat = n, true
	} else {
		h.long, h.hasLong = n, true
	}
	if h.hasLat && h.hasLong {
		if len(*to) < 100 {
			*to = appendBudgeted(&p.budget, *to, Geometry{Type: "Point", Coordinates: [][]float64{{h.long, h.lat}}})
		}
		*h = halfPoint{}
		return
	}
	h.rest = p.others()
	h.first = Node{Name: scan.Local(p.r.Name), Prefix: scan.Prefix(p.r.Name), Text: raw}
	h.first.Space = p.r.URI(h.first.Prefix)
}
