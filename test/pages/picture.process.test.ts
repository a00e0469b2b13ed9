import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from '../tidy/source-files.ts'
import { missing } from './browser.ts'
import { fingerprint, pictureFile, playScenes } from './picture.ts'

test('the picture in the README shows the pages as they are', { skip: missing }, async () => {
  const [, drawn] = /<metadata>(.*)<\/metadata>/.exec(read(pictureFile)) ?? []
  // To draw it anew: npm run picture
  assert.equal(drawn, fingerprint(await playScenes()))
  assert.ok(read('README.md').includes(`](${pictureFile})`))
})
