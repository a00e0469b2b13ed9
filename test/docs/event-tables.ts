import { catalogueRow, eventTypes, type EventType } from '../../src/events/catalogue.ts'
import { commentOfEvent } from '../openapi/doc-comments.ts'
import { code, codes, type Table } from './table.ts'

const page = 'docs/events.md'

function rowOf(type: EventType) {
  return catalogueRow(type) ?? { carries: {}, firedBy: '', key: '' }
}

/** What the doc comment of its row says, as a part of a sentence. */
function firesWhen(type: EventType): string {
  const said = commentOfEvent(type).replace(/\.$/, '')
  return said.charAt(0).toLowerCase() + said.slice(1)
}

export const eventTables: readonly Table[] = [
  {
    page,
    under: 'What each carries',
    rows: [
      ['Event', 'Fires when', 'Carries', 'Fired by'],
      ...eventTypes.map((type) => {
        const { carries, firedBy } = rowOf(type)
        return [code(type), firesWhen(type), codes(Object.keys(carries)), firedBy]
      }),
    ],
  },
  {
    page,
    under: 'Dedup keys',
    rows: [['Event', 'Key'], ...eventTypes.map((type) => [code(type), code(rowOf(type).key)])],
  },
]
