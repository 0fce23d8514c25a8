// Package audience counts who reads a feed, as honestly as it can be known.
//
// Nobody can count readers: a server sees requests. So [Report] gives one number
// together with the parts that it is the sum of, each counted in its own way.
//
//   - Services that read for many say for how many, in their User-Agent. Each is
//     believed once, with its latest word.
//   - Programs that read for one person are counted by address and name. Two people
//     with the same program behind one address are one here.
//   - Subscribers that are told of changes and are neither of these: a callback at an
//     address, or at a site, that reads the feed too is not counted twice.
//   - Readers with a secret of their own, when it was used.
//
// Browsers and the robots of search engines are shown and not counted.
//
// No address is kept: what tells readers apart is a keyed hash, and it goes with the
// reader's row after [Window]. Start with [Audience] and its Hit and Report.
package audience
