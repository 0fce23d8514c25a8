// Package media knows files by their bytes: what they are, how large a picture is, how
// long a sound, and what in them tells where and with which device they were made, so
// that this can be left out before strangers read them.
//
// [Inspect] reads a file and plans what of it is kept; [File.Reader] gives the bytes of that
// plan. Neither holds the file in memory. A name, or a type that somebody sent along, is
// never believed: [Check] only says where it is a lie.
//
// # What is left out
//
// Of JPEG, PNG, GIF and WebP only what is on a list stays: what draws the picture, its
// colours, and the way up. Exif, XMP, IPTC, comments, thumbnails, further pictures and
// whatever follows the end go. In HEIC, AVIF, MP4 and QuickTime, whose parts are known
// by their place in the file, such bytes become zero where they stand. What has such
// a form but cannot be followed to its end is refused, and so are pictures of other forms
// that may hold a place: TIFF and raw pictures, JPEG 2000, JPEG XL, Photoshop.
//
// Forms: ISO/IEC 10918-1 and Exif 2.32; the PNG specification, third edition; the WebP
// container and GIF89a; ISO/IEC 14496-12 and 23008-12; the QuickTime file format.
package media
