<?xml version="1.0" encoding="UTF-8"?>
<CHANNEL HREF="https://club.example/" xml:lang="en">
  <TITLE>Club</TITLE>
  <ABSTRACT>Rounds</ABSTRACT>
  <LOGO HREF="https://club.example/i.png" STYLE="IMAGE"/>
  <SCHEDULE>
    <INTERVALTIME MIN="60"/>
  </SCHEDULE>
  <CHANNEL HREF="https://club.example/#r1">
    <TITLE>Round 1</TITLE>
    <ABSTRACT>All boards.</ABSTRACT>
    <AUTHOR VALUE="ann@club.example (Ann)"/>
    <PUBLICATIONDATE VALUE="2009-10-03T10:00"/>
    <ITEM HREF="https://club.example/r1-1">
      <TITLE>Board 1</TITLE>
    </ITEM>
    <ITEM HREF="https://club.example/#r1-2">
      <TITLE>Board 2</TITLE>
    </ITEM>
  </CHANNEL>
</CHANNEL>
! link-made · item[1]/link · CDF requires a link, and the item has none; the nearest URL is used.
! link-made · item[1]/item[2]/link · CDF requires a link, and the item has none; the nearest URL is used.
! left-out ·  · CDF cannot represent: identifiers, sources of items, clouds, update schedules, images, comments, modules, unknown elements.
