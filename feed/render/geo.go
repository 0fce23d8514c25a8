package render

import (
	"math"
	"strconv"

	"cloudburst/feed"
	"cloudburst/internal/geo"
)

// places writes geometries as GeoRSS: in the simple form if that can represent the whole
// geometry, otherwise as GML.
func (w *writer) places(list []feed.Geometry) {
	for i := range list {
		g := &list[i]
		if !validGeometry(g) {
			w.warn("place", "where", "GeoRSS cannot represent this place; it is omitted.")
			continue
		}
		g = w.strictPlace(g)
		if simple := simpleName(g); simple != "" {
			w.tag(simple, nil)
			w.b = append(w.b, '>')
			w.points(g.Coordinates, false)
			if g.Type == "Circle" {
				w.b = appendCoordinate(append(w.b, ' '), g.Radius)
			}
			w.endTag(simple)
		} else {
			w.open("georss:where")
			w.gml(g)
			w.close("georss:where")
		}
		w.placeNotes(g)
	}
}

// placeNotes writes the properties of a place other than its coordinates.
func (w *writer) placeNotes(g *feed.Geometry) {
	w.leaf("georss:featureName", g.FeatureName)
	w.leaf("georss:featureTypeTag", g.FeatureType)
	w.leaf("georss:relationshipTag", g.Relation)
	w.leaf("georss:elev", w.decimal(g.Elevation, "where"))
	w.leaf("georss:floor", w.number(g.Floor, "where", math.MinInt))
	if g.Radius > 0 && g.Type != "Circle" && !math.IsInf(g.Radius, 0) {
		w.tag("georss:radius", nil)
		w.b = appendCoordinate(append(w.b, '>'), g.Radius)
		w.endTag("georss:radius")
	}
}

// validGeometry reports whether a geometry has a known type and enough points. All coordinates
// must be finite, and all points must have the same dimension.
func validGeometry(g *feed.Geometry) bool {
	n := len(g.Coordinates)
	switch g.Type {
	case "Point":
		if n != 1 {
			return false
		}
	case "Circle":
		if n != 1 || len(g.Coordinates[0]) != 2 || g.SRS != "" || !(g.Radius >= 0) || math.IsInf(g.Radius, 0) {
			return false
		}
	case "Box":
		if n != 2 {
			return false
		}
	case "LineString":
		if n < 2 {
			return false
		}
	case "Polygon":
		if n < 4 {
			return false
		}
	default:
		return false
	}
	size := len(g.Coordinates[0])
	if size != 2 && size != 3 || !soundPoints(g.Coordinates, size) {
		return false
	}
	for _, hole := range g.Holes {
		if len(hole) < 4 || !soundPoints(hole, size) || g.Type != "Polygon" {
			return false
		}
	}
	return true
}

func soundPoints(points [][]float64, size int) bool {
	for _, p := range points {
		if len(p) != size {
			return false
		}
		for _, c := range p {
			if !(math.Abs(c) <= 1e12) {
				return false
			}
		}
	}
	return true
}

// simpleName returns the element of simple GeoRSS that can represent the whole geometry, or "" if
// there is none.
func simpleName(g *feed.Geometry) string {
	if g.SRS != "" || len(g.Coordinates[0]) != 2 || len(g.Holes) > 0 {
		return ""
	}
	switch g.Type {
	case "Point":
		return "georss:point"
	case "LineString":
		return "georss:line"
	case "Polygon":
		return "georss:polygon"
	case "Circle":
		return "georss:circle"
	}
	return ""
}

// gml writes a geometry as GML.
func (w *writer) gml(g *feed.Geometry) {
	size := ""
	if len(g.Coordinates[0]) == 3 {
		size = "3"
	}
	lonFirst := geo.LongitudeFirst(g.SRS)
	shape := gmlName(g.Type)
	w.open(shape, "srsName", g.SRS, "srsDimension", size)
	switch g.Type {
	case "Point":
		w.positions("gml:pos", g.Coordinates, lonFirst)
	case "LineString":
		w.positions("gml:posList", g.Coordinates, lonFirst)
	case "Box":
		w.positions("gml:lowerCorner", g.Coordinates[:1], lonFirst)
		w.positions("gml:upperCorner", g.Coordinates[1:], lonFirst)
	case "Polygon":
		w.ring("gml:exterior", g.Coordinates, lonFirst)
		for _, hole := range g.Holes {
			w.ring("gml:interior", hole, lonFirst)
		}
	}
	w.close(shape)
}

// gmlName returns the GML element for a type of geometry.
func gmlName(kind string) string {
	if kind == "Box" {
		return "gml:Envelope"
	}
	return "gml:" + kind
}

func (w *writer) ring(name string, points [][]float64, lonFirst bool) {
	w.open(name)
	w.open("gml:LinearRing")
	w.positions("gml:posList", points, lonFirst)
	w.close("gml:LinearRing")
	w.close(name)
}

func (w *writer) positions(name string, points [][]float64, lonFirst bool) {
	w.tag(name, nil)
	w.b = append(w.b, '>')
	w.points(points, lonFirst)
	w.endTag(name)
}

// points writes coordinates separated by spaces. The latitude is first, unless lonFirst is set for
// a reference system with the opposite order.
func (w *writer) points(list [][]float64, lonFirst bool) {
	for i, p := range list {
		if i > 0 {
			w.b = append(w.b, ' ')
		}
		a, b := p[1], p[0]
		if lonFirst {
			a, b = b, a
		}
		w.b = appendCoordinate(append(appendCoordinate(w.b, a), ' '), b)
		if len(p) == 3 {
			w.b = appendCoordinate(append(w.b, ' '), p[2])
		}
	}
}

func appendCoordinate(b []byte, n float64) []byte { return strconv.AppendFloat(b, n, 'f', -1, 64) }
