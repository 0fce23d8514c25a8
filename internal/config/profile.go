package config

// ProfileGuide2009 is the profile that follows the guide to rssCloud of 2009.
const ProfileGuide2009 = "guide-2009"

// profiles contains the defaults that each profile replaces. Outer key: profile; inner key: setting
// name. ping.targets is the server in the examples of the weblogs.com specification of 2007.
var profiles = map[string]map[string]string{
	"none": {},
	ProfileGuide2009: {
		"write.limit-mode":   "stop",
		"changes.when":       "minutes",
		"hub.cloud-protocol": "http-post",
		"ping.targets":       "weblogs-extended http://rpc.weblogs.com/RPC2",
	},
}
