package media

import (
	"bytes"
	"encoding/binary"
)

// orientation returns the Exif orientation (1 to 8), or 0 if there is none. The "Exif" prefix
// before the TIFF header is optional.
func orientation(exif []byte) int {
	b := bytes.TrimPrefix(exif, []byte("Exif\x00\x00"))
	if len(b) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	switch string(b[:4]) {
	case "MM\x00*":
	case "II*\x00":
		order = binary.LittleEndian
	default:
		return 0
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 0
	}
	n := int64(order.Uint16(b[at:]))
	for i := range n {
		e := at + 2 + i*12
		if e+12 > int64(len(b)) {
			return 0
		}
		if order.Uint16(b[e:]) == 0x0112 && order.Uint16(b[e+2:]) == 3 {
			if o := int(order.Uint16(b[e+8:])); o >= 1 && o <= 8 {
				return o
			}
			return 0
		}
	}
	return 0
}

// orientationExif returns an Exif block that contains only the orientation: a TIFF header with one
// field.
func orientationExif(o int) []byte {
	return []byte{'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(o), 0, 0, 0, 0, 0, 0}
}

// orientedSize returns the dimensions of an image as displayed with orientation o.
func orientedSize(o, width, height int) (int, int) {
	if o >= 5 {
		return height, width
	}
	return width, height
}
