package soap

const (
	env11 = "http://schemas.xmlsoap.org/soap/envelope/"
	env12 = "http://www.w3.org/2003/05/soap-envelope"
	enc11 = "http://schemas.xmlsoap.org/soap/encoding/"
	enc12 = "http://www.w3.org/2003/05/soap-encoding"
	xsd   = "http://www.w3.org/2001/XMLSchema"
	xsi   = "http://www.w3.org/2001/XMLSchema-instance"

	next11     = "http://schemas.xmlsoap.org/soap/actor/next"
	next12     = "http://www.w3.org/2003/05/soap-envelope/role/next"
	ultimate12 = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"
)

// isSchema reports whether space is a namespace of XML Schema, including the drafts before
// 2001, which early programs send.
func isSchema(space string) bool {
	switch space {
	case xsd, "http://www.w3.org/2000/10/XMLSchema", "http://www.w3.org/1999/XMLSchema":
		return true
	}
	return false
}

func isInstance(space string) bool {
	switch space {
	case xsi, "http://www.w3.org/2000/10/XMLSchema-instance", "http://www.w3.org/1999/XMLSchema-instance":
		return true
	}
	return false
}

func isEncoding(space string) bool { return space == enc11 || space == enc12 }
