import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuittanceError } from '../kernel/errors.ts'
import { supportLink, type Brand } from './brand.ts'
import { readSettings } from './settings.ts'

function refusal(brand: Brand): string {
  try {
    readSettings({ brand })
    return 'it was taken'
  } catch (error) {
    assert.ok(isQuittanceError(error), String(error))
    assert.equal(error.code, 'setting_invalid')
    return error.message
  }
}
const taken = (brand: Brand) => readSettings({ brand }).brand

test('a whole brand is taken as it is', () => {
  const brand = {
    name: 'Кав’ярня «Під липою»',
    logo: 'https://files.shop.example/logo.svg',
    color: '#0b6b3a',
    support: 'help@shop.example',
  }
  assert.deepEqual(taken(brand), brand)
})

test('a name is a text that fits', () => {
  for (const name of ['', 'x'.repeat(61), 'a\nb']) {
    assert.match(refusal({ name }), /^option brand\.name must be text of 1 to 60 characters/)
  }
})

test('a logo is an image by https or in the setting itself, and has a name', () => {
  const name = 'Shop'
  for (const logo of [
    'https://a.example/x.png?v=2',
    'data:image/png;base64,iVBOR',
    'data:image/svg+xml,x',
  ]) {
    assert.equal(taken({ name, logo }).logo, logo)
  }
  for (const logo of [
    'http://a.example/x.png',
    'javascript:alert(1)',
    'data:text/html,<script>1</script>',
    'data:image/svg,x',
    '/logo.png',
    // In a content security policy these would end the list of images, or allow more of them.
    "https://a.example;script-src'unsafe-inline'/x.png",
    'https://a.example,b/x.png',
    'https://*/x.png',
    'https://user:password@a.example/x.png',
    `data:image/png;base64,${'A'.repeat(64 * 1024)}`,
  ]) {
    assert.match(refusal({ name, logo }), /^option brand\.logo must be the https URL of an image, /)
  }
  assert.match(
    refusal({ logo: 'https://a.example/x.png' }),
    /^brand\.logo is set without brand\.name$/,
  )
})

test('a colour is opaque and of hexadecimal digits', () => {
  for (const color of ['#0b6b3a', '#FFF', '0b6b3a']) assert.equal(taken({ color }).color, color)
  for (const color of [
    'red',
    '#0b6b3a80',
    '#fff0',
    'transparent',
    'rgb(0 0 0)',
    '#12345',
    '#fff}',
  ]) {
    assert.match(refusal({ color }), /^option brand\.color must be a colour .* transparent, got /)
  }
})

test('help is found by e-mail, phone or https', () => {
  for (const [support, href, text] of [
    ['help@shop.example', 'mailto:help@shop.example', 'help@shop.example'],
    ['mailto:help@shop.example', 'mailto:help@shop.example', 'help@shop.example'],
    ['+380 (44) 123-45-67', 'tel:+380441234567', '+380 (44) 123-45-67'],
    ['tel:0800123456', 'tel:0800123456', '0800123456'],
    ['https://shop.example/help/', 'https://shop.example/help/', 'shop.example/help'],
    ['https://t.me/shop?start="1"', 'https://t.me/shop?start=%221%22', 't.me/shop'],
  ] as const) {
    assert.deepEqual(supportLink(taken({ support }).support ?? ''), { href, text })
  }
  for (const support of [
    'javascript:alert(1)',
    'JavaScript://shop.example/%0aalert(1)',
    'data:text/html,x',
    'http://shop.example',
    'https://user:password@shop.example',
    'help@shop',
    'mailto:help@shop.example?bcc=all@shop.example',
    'tel:112;ext=javascript',
    'call us',
    '12',
    '',
  ]) {
    assert.match(refusal({ support }), /^option brand\.support must be an e-mail address, /)
  }
})
