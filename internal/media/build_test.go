package media_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"testing"
)

// Every test file contains these private data, which must be removed.
const (
	secretSerial   = "SN-4711-0815"
	secretLocation = "Hauptstrasse 12"
	secretTime     = 0x54694d65 // "TiMe"
	secretXMP      = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="47,22.5N" exif:GPSLongitude="8,32.4E" xmlns:aux="http://ns.adobe.com/exif/1.0/aux/" aux:SerialNumber="SN-4711-0815"/></rdf:RDF></x:xmpmeta>`
)

// exifOf returns a TIFF block with a maker, a location, a serial number and an orientation.
func exifOf(orient int) []byte {
	le := binary.LittleEndian
	type field struct {
		tag, typ uint16
		n        uint32
		data     []byte
	}
	rational := func(v ...uint32) (b []byte) {
		for _, x := range v {
			b = le.AppendUint32(le.AppendUint32(b, x), 1)
		}
		return b
	}
	ascii := func(s string) []byte { return append([]byte(s), 0) }
	long := func(v uint32) []byte { return le.AppendUint32(nil, v) }
	write := func(at uint32, fields []field) []byte {
		b := le.AppendUint16(nil, uint16(len(fields)))
		data := at + 2 + uint32(len(fields))*12 + 4
		var tail []byte
		for _, f := range fields {
			b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, f.tag), f.typ), f.n)
			if len(f.data) <= 4 {
				b = append(b, append(f.data, make([]byte, 4-len(f.data))...)...)
				continue
			}
			b = le.AppendUint32(b, data+uint32(len(tail)))
			tail = append(tail, f.data...)
		}
		return append(append(b, 0, 0, 0, 0), tail...)
	}
	gps := []field{
		{1, 2, 2, ascii("N")}, {2, 5, 3, rational(47, 22, 30)}, {3, 2, 2, ascii("E")}, {4, 5, 3, rational(8, 32, 24)},
		{28, 2, uint32(len(secretLocation) + 1), ascii(secretLocation)},
	}
	exif := []field{{0xa431, 2, uint32(len(secretSerial) + 1), ascii(secretSerial)}}
	out := []byte("II*\x00\x08\x00\x00\x00")
	const gpsAt, exifAt = 512, 1024
	out = append(out, write(8, []field{
		{0x010f, 2, 6, ascii("Camra")}, {0x0112, 3, 1, le.AppendUint16(nil, uint16(orient))}, {0x8769, 4, 1, long(exifAt)}, {0x8825, 4, 1, long(gpsAt)},
	})...)
	out = append(out, make([]byte, gpsAt-len(out))...)
	out = append(out, write(gpsAt, gps)...)
	out = append(out, make([]byte, exifAt-len(out))...)
	return append(out, write(exifAt, exif)...)
}

// colourfulImage returns an image whose pixels all have different colours.
func colourfulImage(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x * 5), uint8(y * 7), uint8(x * y), 255})
		}
	}
	return m
}

func segment(marker byte, body string) string {
	n := len(body) + 2
	return string([]byte{0xff, marker, byte(n >> 8), byte(n)}) + body
}

// jpegOf returns a JPEG file as phones write it: with all kinds of metadata and a second image at
// the end.
func jpegOf(t testing.TB, orient int) []byte {
	t.Helper()
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, colourfulImage(40, 24), nil); err != nil {
		t.Fatal(err)
	}
	exif := segment(0xe1, "Exif\x00\x00"+string(exifOf(orient)))
	xmp := segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+secretXMP)
	iptc := segment(0xed, "Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00\x00\x15\x1c\x02\x5c\x00\x10"+secretLocation+"\x00")
	head := "\xff\xd8" + segment(0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00") + exif + xmp + iptc +
		segment(0xe2, "ICC_PROFILE\x00\x01\x01"+iccProfile()) + segment(0xe2, "MPF\x00"+secretSerial) + segment(0xfe, secretLocation)
	whole := head + plain.String()[2:]
	return []byte(whole + "\xff\xd8" + exif + plain.String()[2:] + "tail " + secretSerial)
}

// iccProfile returns a minimal profile that decoders accept: a header and no tags.
func iccProfile() string {
	b := make([]byte, 132)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	copy(b[8:], "\x02\x10\x00\x00mntrRGB XYZ ")
	copy(b[36:], "acsp")
	return string(b)
}

func chunkPNG(typ, body string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, typ...), body...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
}

func pngOf(t testing.TB, orient int) []byte {
	t.Helper()
	var plain bytes.Buffer
	if err := png.Encode(&plain, colourfulImage(40, 24)); err != nil {
		t.Fatal(err)
	}
	head, rest := plain.String()[:33], plain.String()[33:]
	return []byte(head + chunkPNG("tEXt", "Comment\x00"+secretLocation) + chunkPNG("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+secretXMP) +
		chunkPNG("tIME", "\x07\xea\x0b\x16\x0a\x0a\x0a") + chunkPNG("eXIf", string(exifOf(orient))) + chunkPNG("caBX", secretSerial) + rest + "tail " + secretSerial)
}

func gifOf(t testing.TB) []byte {
	t.Helper()
	palette := color.Palette{color.Black, color.White, color.NRGBA{255, 0, 0, 255}}
	frame := func(n uint8) *image.Paletted {
		m := image.NewPaletted(image.Rect(0, 0, 20, 10), palette)
		for i := range m.Pix {
			m.Pix[i] = (uint8(i) + n) % 3
		}
		return m
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame(0), frame(1)}, Delay: []int{10, 20}, LoopCount: 3}); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	table := 13
	if whole[10]&0x80 != 0 {
		table += 3 * (2 << (whole[10] & 7))
	}
	magic := "\x01\xff"
	for i := 0xfe; i >= 0; i-- {
		magic += string([]byte{byte(i)})
	}
	xmp := "!\xff\x0bXMP DataXMP" + secretXMP + magic + "\x00"
	comment := "!\xfe" + string([]byte{byte(len(secretLocation))}) + secretLocation + "\x00"
	return []byte(whole[:table] + xmp + comment + whole[table:] + "tail " + secretSerial)
}

func chunkRIFF(typ, body string) string {
	b := binary.LittleEndian.AppendUint32([]byte(typ), uint32(len(body)))
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return string(b)
}

func webpOf(t testing.TB, orient int) []byte {
	t.Helper()
	small, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	body := "WEBP" + chunkRIFF("VP8X", "\x2c\x00\x00\x00\x00\x00\x00\x00\x00\x00") + chunkRIFF("ICCP", iccProfile()) +
		string(small[12:]) + chunkRIFF("EXIF", string(exifOf(orient))) + chunkRIFF("XMP ", secretXMP) + chunkRIFF("C2PA", secretSerial)
	return []byte(chunkRIFF("RIFF", body) + "tail " + secretSerial)
}

func boxOf(typ string, parts ...string) string {
	body := ""
	for _, p := range parts {
		body += p
	}
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))) + typ + body
}

func u32(v ...int) string {
	var b []byte
	for _, x := range v {
		b = binary.BigEndian.AppendUint32(b, uint32(x))
	}
	return string(b)
}

func u16(v ...int) string {
	var b []byte
	for _, x := range v {
		b = binary.BigEndian.AppendUint16(b, uint16(x))
	}
	return string(b)
}

// heifOf returns a HEIF image with Exif in mdat and XMP in idat.
func heifOf(brand string) []byte {
	ftyp := boxOf("ftyp", brand, u32(0), "mif1", brand)
	coded, exif := "the coded image", u32(6)+"Exif\x00\x00"+string(exifOf(1))
	meta := func(at int) string {
		infe := func(id int, typ, more string) string {
			return boxOf("infe", u32(2<<24), u16(id, 0), typ, "\x00", more)
		}
		iloc := boxOf("iloc", u32(1<<24), "\x44\x00", u16(3),
			u16(1, 0, 0, 1), u32(at, len(coded)),
			u16(2, 0, 0, 1), u32(at+len(coded), len(exif)),
			u16(3, 1, 0, 1), u32(0, len(secretXMP)))
		return boxOf("meta", u32(0), boxOf("hdlr", u32(0, 0), "pict", u32(0, 0, 0), "\x00"), boxOf("pitm", u32(0), u16(1)),
			boxOf("iinf", u32(0), u16(3), infe(1, "av01", ""), infe(2, "Exif", ""), infe(3, "mime", "application/rdf+xml\x00")),
			boxOf("iprp", boxOf("ipco", boxOf("ispe", u32(0, 64, 48)), boxOf("irot", "\x01")), boxOf("ipma", u32(0, 1), u16(1), "\x02\x81\x02")),
			boxOf("idat", secretXMP), boxOf("iref", u32(0), boxOf("cdsc", u16(2, 1, 1)), boxOf("cdsc", u16(3, 1, 1))), iloc)
	}
	at := len(ftyp) + len(meta(0)) + 8
	return []byte(ftyp + meta(at) + boxOf("mdat", coded, exif) + boxOf("uuid", "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac", secretXMP))
}

// movOf returns a video with a location in every known form and a track of GPS positions.
func movOf(brand string) []byte {
	positions := "GPS5 " + secretLocation + " " + secretSerial
	ftyp := boxOf("ftyp", brand, u32(0), brand)
	mdat := boxOf("mdat", "the coded video ", positions)
	matrix := u32(0, 1<<16, 0, -1<<16, 0, 0, 0, 0, 1<<30)
	track := func(id int, handler string, at, size int, more string) string {
		return boxOf("trak", boxOf("tkhd", u32(3, secretTime, secretTime, id, 0, 500, 0, 0), u16(0, 0, 0, 0), matrix, u32(64<<16, 48<<16)),
			boxOf("mdia", boxOf("mdhd", u32(0, secretTime, secretTime, 1000, 5000), u16(0, 0)), boxOf("hdlr", u32(0, 0), handler, u32(0, 0, 0), "\x00"),
				boxOf("minf", boxOf("stbl", boxOf("stsd", u32(0, 0)), boxOf("stts", u32(0, 0)), boxOf("stsc", u32(0, 1, 1, 1, 1)), boxOf("stsz", u32(0, 0, 1, size)), boxOf("stco", u32(0, 1, at))))), more)
	}
	start := len(ftyp) + 8
	xyz := boxOf("\xa9xyz", u16(18, 0x15c7), "+47.3750+008.5400/")
	loci := boxOf("loci", u32(0), u16(0x15c7), secretLocation, "\x00\x00", u32(8<<16, 47<<16, 0), "earth\x00\x00")
	key := func(name string) string { return u32(8+len(name)) + "mdta" + name }
	item := func(n int, text string) string { return boxOf(u32(n), boxOf("data", u32(1, 0), text)) }
	keys := boxOf("keys", u32(0, 4), key("com.apple.quicktime.location.ISO6709"), key("com.apple.quicktime.title"), key("com.apple.quicktime.camera.identifier"), key("com.apple.quicktime.creationdate"))
	meta := boxOf("meta", boxOf("hdlr", u32(0, 0), "mdta", u32(0, 0, 0), "\x00"), keys,
		boxOf("ilst", item(1, "+47.3750+008.5400+400.000/"), item(2, "A walk"), item(3, secretSerial), item(4, "TiMe")))
	moov := boxOf("moov", boxOf("mvhd", u32(0, secretTime, secretTime, 1000, 5000, 1<<16), u16(1<<8, 0), u32(0, 0), u32(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30), u32(0, 0, 0, 0, 0, 0), u32(3)),
		track(1, "vide", start, 16, ""), track(2, "meta", start+16, len(positions), boxOf("udta", xyz)+boxOf("skip", secretLocation)),
		boxOf("udta", xyz, loci, boxOf("\xa9nam", u16(6, 0x15c7), "A walk"), boxOf("CAME", secretSerial), boxOf("free", secretLocation), boxOf("\xa9day", u16(4, 0x15c7), "TiMe")), boxOf("free", secretLocation), meta)
	return []byte(ftyp + mdat + moov + boxOf("free", secretLocation) + boxOf("skip", secretLocation) + boxOf("uuid", "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac", secretXMP))
}

// wavOf returns a tone of the given number of seconds.
func wavOf(seconds int) []byte {
	var tone bytes.Buffer
	for i := range 8000 * seconds {
		tone.WriteByte(byte(128 + 100*math.Sin(float64(i)/5)))
	}
	le := binary.LittleEndian
	format := le.AppendUint16(le.AppendUint16(nil, 1), 1)
	format = le.AppendUint32(le.AppendUint32(format, 8000), 8000)
	format = le.AppendUint16(le.AppendUint16(format, 1), 8)
	return []byte(chunkRIFF("RIFF", "WAVE"+chunkRIFF("fmt ", string(format))+chunkRIFF("data", tone.String())))
}

// mp3Of returns frames of silence: MPEG 1 layer III, 128 kbit/s, 44.1 kHz.
func mp3Of(frames int, tag bool) []byte {
	out := ""
	if tag {
		out = "ID3\x04\x00\x00\x00\x00\x00\x0a" + "0123456789"
	}
	for range frames {
		frame := make([]byte, 417)
		copy(frame, "\xff\xfb\x90\x00")
		out += string(frame)
	}
	return []byte(out)
}
