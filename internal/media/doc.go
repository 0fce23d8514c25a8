// Package media detects the type of a file from its content, its dimensions and its duration. It
// also removes metadata that reveals where, when and with which device a file was made.
//
// [Inspect] reads a file and plans which bytes to keep; [File.Reader] returns the resulting bytes.
// Neither holds the file in memory. File names and declared media types are never trusted:
// [Kind.Check] only reports where they contradict the content.
//
// # What is removed
//
// JPEG, PNG, GIF and WebP files keep only listed parts: the image data, its colour information and
// its orientation. Exif, XMP, IPTC, comments, thumbnails, additional images and data after the end
// are removed. HEIC, AVIF, MP4 and QuickTime files refer to their parts by offset, so private bytes
// are overwritten with zeros in place. A file of one of these formats that cannot be parsed to its
// end is rejected. Image formats that may contain a location but are not supported are rejected
// too: TIFF and raw images, JPEG 2000, JPEG XL and Photoshop.
//
// Formats: ISO/IEC 10918-1 and Exif 2.32; the PNG specification, third edition; the WebP container
// and GIF89a; ISO/IEC 14496-12 and 23008-12; the QuickTime file format.
package media
