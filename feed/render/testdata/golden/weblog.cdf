<?xml version="1.0" encoding="UTF-8"?>
<CHANNEL HREF="https://lighthouse.example/" LASTMOD="2026-03-02T07:00" SELF="https://lighthouse.example/atom.xml" xml:lang="en-gb">
  <TITLE>Lighthouse &amp; Keeper</TITLE>
  <ABSTRACT>Weather, ships and tea</ABSTRACT>
  <LOGO HREF="https://lighthouse.example/lamp.png" STYLE="IMAGE"/>
  <AUTHOR VALUE="Iris Vane (iris@lighthouse.example)"/>
  <COPYRIGHT VALUE="© 2026 Iris Vane"/>
  <CATEGORY VALUE="sea"/>
  <A HREF="https://lighthouse.example/feed.json"></A>
  <ITEM HREF="https://lighthouse.example/fog" LASTMOD="2026-03-02T07:00">
    <TITLE>Fog at &lt;dawn&gt;</TITLE>
    <ABSTRACT>Horn &amp; bell, a &lt; b.</ABSTRACT>
    <AUTHOR VALUE="Iris Vane"/>
    <PUBLICATIONDATE VALUE="2026-03-01T06:30"/>
    <CATEGORY VALUE="fog"/>
    <A HREF="https://weather.example/fog"></A>
  </ITEM>
  <ITEM HREF="https://lighthouse.example/2" LASTMOD="2026-02-28T12:00">
    <TITLE>No title, only a thought about gulls that goes on for…</TITLE>
    <ABSTRACT>No title, only a thought about gulls that goes on for somewhat longer than a title should go on.</ABSTRACT>
  </ITEM>
</CHANNEL>
! title-made · item[2]/title · CDF requires a title, and the item has none; its first words are used.
! left-out ·  · CDF cannot represent: other details of persons, category schemes, identifiers, full texts, enclosures, hubs, the generator.
