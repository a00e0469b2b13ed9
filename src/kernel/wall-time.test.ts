import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, hours } from './duration.ts'
import { daysLater, timeOfWall, wallTime } from './wall-time.ts'

const wall = (text: string) => Date.parse(`${text}Z`)

test('clocks on walls are ahead of UTC or behind, by parts of an hour too', () => {
  const time = Date.parse('2026-11-20T22:00:00.123Z')
  assert.equal(wallTime(time, 'UTC'), time)
  assert.equal(wallTime(time, 'Europe/Kyiv'), wall('2026-11-21T00:00:00.123'))
  assert.equal(wallTime(time, 'Asia/Kathmandu'), wall('2026-11-21T03:45:00.123'))
  assert.equal(wallTime(time, 'Pacific/Kiritimati'), wall('2026-11-21T12:00:00.123'))
  assert.equal(wallTime(time, 'Pacific/Pago_Pago'), wall('2026-11-20T11:00:00.123'))
})

test('before 1970, and where an offset has seconds, clocks are right too', () => {
  assert.equal(wallTime(-1, 'Europe/Kyiv'), wall('1970-01-01T02:59:59.999'))
  assert.equal(wallTime(-1, 'Africa/Monrovia'), wall('1969-12-31T23:15:29.999'))
})

test('what clocks show once is that time, up to a change of the clocks and from it on', () => {
  const around = ['2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z'].map((text) => Date.parse(text))
  for (const change of around) {
    for (const distance of [days(2), days(1), hours(1)]) {
      for (const time of [change - distance, change + distance]) {
        assert.equal(timeOfWall(wallTime(time, 'Europe/Kyiv'), 'Europe/Kyiv'), time)
      }
    }
  }
})

test('days later it is the same time of day, also over a change of the clocks', () => {
  const late = new Date('2026-10-24T20:30:00Z')
  assert.equal(daysLater(late, 1, 'Europe/Kyiv').toISOString(), '2026-10-25T21:30:00.000Z')
  assert.equal(daysLater(late, 1, 'UTC').toISOString(), '2026-10-25T20:30:00.000Z')
  assert.equal(daysLater(late, -7, 'Europe/Kyiv').toISOString(), '2026-10-17T20:30:00.000Z')
  // Its clocks show 3:30 twice on that day: no day on is that very time.
  const second = new Date('2026-10-25T01:30:00Z')
  assert.equal(daysLater(second, 0, 'Europe/Kyiv'), second)
})
