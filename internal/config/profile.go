package config

// ProfileGuide2009 is the profile that follows the guide to rssCloud of 2009.
const ProfileGuide2009 = "guide-2009"

// profiles are the defaults that each value of the setting profile replaces, by setting.
// guide-2009 has no ping.sinks: the services that took pings at that time are gone.
var profiles = map[string]map[string]string{
	"none": {},
	ProfileGuide2009: {
		"write.limit-mode":   "stop",
		"changes.when":       "minutes",
		"hub.cloud-protocol": "http-post",
	},
}
