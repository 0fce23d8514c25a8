package config

// ProfileGuide2009 is the profile that follows the guide to rssCloud of 2009.
const ProfileGuide2009 = "guide-2009"

// profiles are the defaults that each value of the setting profile replaces, by setting.
// The server of ping.sinks is the one with which the text of 2007 on pings shows them.
var profiles = map[string]map[string]string{
	"none": {},
	ProfileGuide2009: {
		"write.limit-mode":   "stop",
		"changes.when":       "minutes",
		"hub.cloud-protocol": "http-post",
		"ping.sinks":         "weblogs-extended http://rpc.weblogs.com/RPC2",
	},
}
