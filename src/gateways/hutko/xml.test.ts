import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readXml } from './xml.ts'

const fieldsIn = (text: string) => {
  const payload = readXml(text)
  return payload.kind === 'form' ? Object.fromEntries(payload.value) : payload
}

test('one level of elements comes as fields, their texts decoded once', () => {
  const text =
    '<?xml version="1.0" encoding="utf-8"?>\n<response>\n <a>1</a>\n <b></b><c/><amount> 010 </amount>' +
    '<d>&amp;lt; &lt;x&gt; &quot;y&quot; &apos;ї&apos; 100% + ]]&gt;</d></response>\n'
  assert.deepEqual(fieldsIn(text), {
    a: '1',
    b: '',
    c: '',
    amount: ' 010 ',
    d: `&lt; <x> "y" 'ї' 100% + ]]>`,
  })
  assert.deepEqual(fieldsIn('<response><a>1</a></response>'), { a: '1' })
})

test('everything else that XML can be is refused', () => {
  const within = (content: string) => `<response>${content}</response>`
  const texts = [
    '<!DOCTYPE response [<!ENTITY x "1">]><response><a>&x;</a></response>',
    '<!DOCTYPE response SYSTEM "file:///etc/passwd"><response><a>1</a></response>',
    within('<a>&x;</a>'),
    within('<a>&#65;</a>'),
    within('<a>&#x41;</a>'),
    within('<a>& b</a>'),
    within('<a><![CDATA[1]]></a>'),
    within('<a>1</a><!-- 2 -->'),
    within('<?php 1 ?><a>1</a>'),
    within('<a b="1">1</a>'),
    within('<a >1</a>'),
    within('<x:a>1</x:a>'),
    within('<a>1</a><a>2</a>'),
    within('<a>1</a><a/>'),
    within('<a><b>1</b></a>'),
    within('text<a>1</a>'),
    within('<a>1</b>'),
    within('<a>1'),
    within('<__proto__>1</__proto__>'),
    '<response>1</response>',
    '<response></response>',
    '<response><a>1</a></response><response><b>2</b></response>',
    '<response><a>1</a></response>junk',
    '<order><a>1</a></order>',
    '<response a="1"><a>1</a></response>',
    '<?xml version="1.1"?><response><a>1</a></response>',
    '<?xml version="1.0" encoding="koi8-u"?><response><a>1</a></response>',
    '<?xml version="1.0"?><?xml version="1.0"?><response><a>1</a></response>',
    '<',
    '<<',
    '',
  ]
  for (const text of texts) assert.equal(readXml(text).kind, 'unreadable', text)
})

test('a document of up to 64 KiB is read, a longer one is not', () => {
  const frame = '<response><a></a></response>'
  const textOfLength = (length: number) =>
    frame.replace('<a>', `<a>${'x'.repeat(length - frame.length)}`)
  assert.equal(readXml(textOfLength(64 * 1024)).kind, 'form')
  assert.equal(readXml(textOfLength(64 * 1024 + 1)).kind, 'unreadable')
})

test('a document of more fields than a form may have is not parsed', () => {
  const fields = (count: number) =>
    Array.from({ length: count }, (_none, at) => `<a${at}>1</a${at}>`)
  assert.equal(readXml(`<response>${fields(200).join('')}</response>`).kind, 'form')
  // It is not even looked at whether it is XML.
  for (const text of [`<response>${fields(201).join('')}</response>`, '<'.repeat(500)]) {
    assert.deepEqual(readXml(text), { kind: 'unreadable', reason: 'too_many_fields' })
  }
})
