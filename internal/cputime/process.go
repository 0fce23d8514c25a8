package cputime

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// OfProcess returns the user and system CPU time of another process, with a resolution of 10 ms. It
// returns 0 if the system does not report the time.
func OfProcess(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return OfStat(string(text))
}

// OfStat returns the user and system CPU time from a line of /proc/PID/stat. They are fields 14 and
// 15, in hundredths of a second. The second field, in parentheses, may contain any text.
func OfStat(stat string) time.Duration {
	i := strings.LastIndexByte(stat, ')')
	if i < 0 {
		return 0
	}
	f := strings.Fields(stat[i+1:])
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}
