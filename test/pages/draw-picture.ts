// Draws the pictures of the README, from the pages as they are now: npm run picture
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../tidy/source-files.ts'
import { consolePictureFile, drawConsole, lookAtPayment } from '../console/picture.ts'
import { missing } from './browser.ts'
import { drawPicture, pictureFile, playScenes } from './picture.ts'

if (missing === false) {
  writeFileSync(join(root, pictureFile), drawPicture(await playScenes()))
  writeFileSync(join(root, consolePictureFile), drawConsole(await lookAtPayment()))
} else {
  process.exitCode = 1
}
