package media

import (
	"encoding/binary"
	"io"
)

// mp3Head is what the head of a frame says.
type mp3Head struct {
	size    int // bytes of the frame
	rate    int // samples a second
	samples int // in a frame
	bits    int // a second
	side    int // bytes of side information before which Xing may stand
}

// mp3Frame reads the head of a frame of layer III.
func mp3Frame(b []byte) (h mp3Head, ok bool) {
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

// mp3 finds how long the sound is: by what the encoder wrote into the first frame, or
// from the size at an even rate.
func (f *File) mp3() error {
	at := int64(0)
	head, err := f.table(0, min(f.size, 10))
	if err != nil {
		return err
	}
	if len(head) == 10 && string(head[:3]) == "ID3" {
		at = 10 + int64(head[6]&0x7f)<<21 + int64(head[7]&0x7f)<<14 + int64(head[8]&0x7f)<<7 + int64(head[9]&0x7f)
	}
	if at >= f.size {
		return io.ErrUnexpectedEOF
	}
	b, err := f.table(at, min(at+64<<10, f.size))
	if err != nil {
		return err
	}
	for len(b) > 4 && b[0] == 0 { // padding behind the tag
		b, at = b[1:], at+1
	}
	h, ok := mp3Frame(b)
	if !ok {
		return f.broken("no sound begins at byte %d", at)
	}
	if x := 4 + h.side; len(b) >= x+12 && (string(b[x:x+4]) == "Xing" || string(b[x:x+4]) == "Info") && b[x+7]&1 == 1 {
		f.Duration = float64(binary.BigEndian.Uint32(b[x+8:])) * float64(h.samples) / float64(h.rate)
		return nil
	}
	f.Duration = float64(f.size-at) * 8 / float64(h.bits)
	return nil
}

// wav finds how long the sound is from its chunks.
func (f *File) wav() error {
	second := int64(0)
	for at := int64(12); at+8 <= f.size; {
		head, err := f.table(at, at+8)
		if err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "fmt ":
			b, err := f.table(at+8, at+20)
			if err != nil {
				return err
			}
			second = int64(binary.LittleEndian.Uint32(b[8:]))
		case "data":
			if second == 0 {
				return f.broken("it does not say how it is to be played")
			}
			f.Duration = float64(min(n, f.size-at-8)) / float64(second)
			return nil
		}
		at += 8 + n + n&1
	}
	return f.broken("there is no sound in it")
}

// flac finds how long the sound is from its first block.
func (f *File) flac() error {
	b, err := f.table(4, 4+38)
	if err != nil {
		return err
	}
	if b[0]&0x7f != 0 {
		return f.broken("its first block is not the one that it needs")
	}
	bits := binary.BigEndian.Uint64(b[14:])
	rate, samples := bits>>44, bits&(1<<36-1)
	if rate == 0 {
		return f.broken("it does not say how it is to be played")
	}
	f.Duration = float64(samples) / float64(rate)
	return nil
}
