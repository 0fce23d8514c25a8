package geo

import "testing"

func TestCoordinateOrderDependsOnTheReferenceSystem(t *testing.T) {
	t.Parallel()
	for srs, want := range map[string]bool{
		"": false, "urn:ogc:def:crs:EPSG::4326": false, "http://www.opengis.net/def/crs/OGC/1.3/CRS84": true,
		"EPSG:3857": true, "EPSG:4979": false, "EPSG:x": false, "other": false,
	} {
		if got := LongitudeFirst(srs); got != want {
			t.Errorf("%q: %v", srs, got)
		}
	}
}
