<?xml version="1.0" encoding="UTF-8"?>
<CHANNEL HREF="https://harbour.example/" LASTMOD="2026-03-01T07:00" SELF="https://harbour.example/rss.xml" xml:lang="en">
  <TITLE>Harbour Radio</TITLE>
  <ABSTRACT>What the tide brings in</ABSTRACT>
  <LOGO HREF="https://harbour.example/cover.jpg" STYLE="IMAGE"/>
  <AUTHOR VALUE="Nora Lind"/>
  <PUBLISHER VALUE="Nora Lind (nora@harbour.example)"/>
  <CATEGORY VALUE="Society &amp; Culture"/>
  <CATEGORY VALUE="Places &amp; Travel"/>
  <CATEGORY VALUE="Technology"/>
  <CHANNEL HREF="https://harbour.example/1">
    <TITLE>Ropes &amp; knots</TITLE>
    <ABSTRACT>Bowline.</ABSTRACT>
    <PUBLISHER VALUE="Quay Press"/>
    <COPYRIGHT VALUE="© Nora Lind"/>
    <PUBLICATIONDATE VALUE="2026-03-01T06:30"/>
    <CATEGORY VALUE="rope"/>
    <CATEGORY VALUE="knot"/>
    <CATEGORY VALUE="sea/rope"/>
    <ITEM HREF="https://harbour.example/1/a">
      <TITLE>Within</TITLE>
      <ABSTRACT>Words within</ABSTRACT>
    </ITEM>
  </CHANNEL>
</CHANNEL>
! left-out ·  · CDF cannot represent: category schemes, dates, identifiers, media, enclosures, clouds, update schedules, languages, rights and licences, comments, places, modules, unknown elements.
