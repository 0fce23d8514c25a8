package shell

import (
	"net/http"
	"strconv"
	"time"
	_ "time/tzdata" // for systems without a time zone database
)

const maxZoneName = 64 // bytes

// TimeZone returns the user's time zone, from the cookie that the page's script sets. Its value is a
// name such as "Europe/Berlin", or minutes east of UTC.
func TimeZone(r *http.Request) *time.Location {
	c, err := r.Cookie("tz")
	if err != nil || len(c.Value) > maxZoneName || c.Value == "Local" {
		return time.UTC
	}
	if minutes, err := strconv.Atoi(c.Value); err == nil {
		if minutes < -16*60 || minutes > 16*60 || minutes == 0 {
			return time.UTC
		}
		return time.FixedZone("", minutes*60)
	}
	zone, err := time.LoadLocation(c.Value)
	if err != nil {
		return time.UTC
	}
	return zone
}
