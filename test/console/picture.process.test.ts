import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from '../pages/browser.ts'
import { read } from '../tidy/source-files.ts'
import { consoleFingerprint, consolePictureFile, lookAtPayment } from './picture.ts'

test(
  'the picture of the console in the README shows its page as it is',
  { skip: missing },
  async () => {
    const [, drawn] = /<metadata>(.*)<\/metadata>/.exec(read(consolePictureFile)) ?? []
    // To draw it anew: npm run picture
    assert.equal(drawn, consoleFingerprint(await lookAtPayment()))
    assert.ok(read('README.md').includes(`](${consolePictureFile})`))
  },
)
