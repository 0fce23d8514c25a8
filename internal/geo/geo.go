// Package geo determines the order of coordinates in spatial reference systems.
package geo

import (
	"strconv"
	"strings"
)

// LongitudeFirst reports whether the first coordinate of a reference system is the longitude or an
// easting: CRS84, and EPSG systems that are not in degrees.
func LongitudeFirst(srs string) bool {
	if strings.Contains(srs, "CRS84") {
		return true
	}
	if !strings.Contains(srs, "EPSG") {
		return false
	}
	n, err := strconv.Atoi(srs[strings.LastIndexAny(srs, ":/")+1:])
	return err == nil && !inDegrees(n)
}

// inDegrees reports whether n is the EPSG number of a system with latitude and longitude in
// degrees.
func inDegrees(n int) bool {
	switch {
	case n >= 4001 && n <= 4047, n >= 4052 && n <= 4055, n >= 4120 && n <= 4326, n >= 4600 && n <= 4904:
		return true
	}
	switch n {
	case 3819, 3821, 3824, 3889, 3906, 4075, 4081, 4463, 4470, 4475, 4483, 4490, 4555, 4558, 4979:
		return true
	}
	return false
}
