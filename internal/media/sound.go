package media

import (
	"encoding/binary"
	"io"
)

// mp3Header is a decoded MP3 frame header.
type mp3Header struct {
	size    int // size of the frame in bytes
	rate    int // samples per second
	samples int // samples per frame
	bits    int // bits per second
	side    int // bytes of side information before a possible Xing header
}

// mp3Frame decodes the header of the layer III frame at the beginning of b.
func mp3Frame(b []byte) (h mp3Header, ok bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe6 != 0xe2 {
		return h, false
	}
	version := b[1] >> 3 & 3 // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
	rates := [3]int{44100, 48000, 32000}
	bits1 := [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0}
	bits2 := [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}
	rate := b[2] >> 2 & 3
	if version == 1 || rate == 3 {
		return h, false
	}
	mono := b[3]>>6 == 3
	h.rate, h.samples, h.bits, h.side = rates[rate], 1152, bits1[b[2]>>4]*1000, 32
	switch {
	case version == 3 && mono:
		h.side = 17
	case version != 3:
		h.rate, h.samples, h.bits, h.side = h.rate/2, 576, bits2[b[2]>>4]*1000, 17
		if mono {
			h.side = 9
		}
		if version == 0 {
			h.rate /= 2
		}
	}
	if h.bits == 0 {
		return h, false
	}
	h.size = h.samples/8*h.bits/h.rate + int(b[2]>>1&1)
	return h, true
}

// mp3 determines the duration from the Xing header in the first frame. Without that header it
// assumes a constant bit rate.
func (f *File) mp3() error {
	at := int64(0)
	head, err := f.readTable(0, min(f.size, 10))
	if err != nil {
		return err
	}
	if len(head) == 10 && string(head[:3]) == "ID3" {
		at = 10 + int64(head[6]&0x7f)<<21 + int64(head[7]&0x7f)<<14 + int64(head[8]&0x7f)<<7 + int64(head[9]&0x7f)
	}
	if at >= f.size {
		return io.ErrUnexpectedEOF
	}
	b, err := f.readTable(at, min(at+64<<10, f.size))
	if err != nil {
		return err
	}
	for len(b) > 4 && b[0] == 0 { // skip the padding after the tag
		b, at = b[1:], at+1
	}
	h, ok := mp3Frame(b)
	if !ok {
		return f.invalid("no sound begins at byte %d", at)
	}
	if x := 4 + h.side; len(b) >= x+12 && (string(b[x:x+4]) == "Xing" || string(b[x:x+4]) == "Info") && b[x+7]&1 == 1 {
		f.Duration = float64(binary.BigEndian.Uint32(b[x+8:])) * float64(h.samples) / float64(h.rate)
		return nil
	}
	f.Duration = float64(f.size-at) * 8 / float64(h.bits)
	return nil
}

// wav determines the duration from the chunks "fmt " and "data".
func (f *File) wav() error {
	second := int64(0)
	for at := int64(12); at+8 <= f.size; {
		head, err := f.readTable(at, at+8)
		if err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "fmt ":
			b, err := f.readTable(at+8, at+20)
			if err != nil {
				return err
			}
			second = int64(binary.LittleEndian.Uint32(b[8:]))
		case "data":
			if second == 0 {
				return f.invalid("it does not declare its sample rate")
			}
			f.Duration = float64(min(n, f.size-at-8)) / float64(second)
			return nil
		}
		at += 8 + n + n&1
	}
	return f.invalid("it contains no sound")
}

// flac determines the duration from the first metadata block.
func (f *File) flac() error {
	b, err := f.readTable(4, 4+38)
	if err != nil {
		return err
	}
	if b[0]&0x7f != 0 {
		return f.invalid("its first block is not STREAMINFO")
	}
	bits := binary.BigEndian.Uint64(b[14:])
	rate, samples := bits>>44, bits&(1<<36-1)
	if rate == 0 {
		return f.invalid("it does not declare its sample rate")
	}
	f.Duration = float64(samples) / float64(rate)
	return nil
}
