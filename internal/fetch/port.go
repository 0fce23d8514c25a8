package fetch

// refusedPort reports whether requests to a port are refused, because a web request could abuse the
// service: ports that browsers refuse, and ports of databases, caches and control planes.
func refusedPort(p uint16) bool {
	if p == 80 || p == 443 {
		return false
	}
	switch p {
	case 0, 1, 7, 9, 11, 13, 15, 17, 19, // small services such as echo and chargen
		20, 21, 69, 115, 989, 990, 2049, 873, // file transfer
		22, 23, 512, 513, 514, 515, 992, 3389, 5900, 5985, 5986, // remote shells and screens
		25, 109, 110, 143, 220, 465, 587, 993, 995, 4190, // mail
		37, 42, 43, 53, 77, 79, 87, 95, 101, 102, 103, 104, 111, 113, 117, 119, 123, 135, 137, 138, 139,
		161, 179, 389, 427, 433, 445, 526, 530, 531, 532, 540, 548, 554, 556, 563, 601, 636,
		1719, 1720, 1723, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080,
		1433, 1521, 3050, 3306, 5432, 5984, 6379, 9042, 11211, 27017, 27018, 28015, // databases and caches
		2181, 2375, 2376, 2379, 2380, 4222, 5672, 9092, 9200, 9300, 10250: // control planes
		return true
	}
	return false
}
