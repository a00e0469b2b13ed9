export { visibleText, wholeText } from '../kernel/visible-text.ts'
