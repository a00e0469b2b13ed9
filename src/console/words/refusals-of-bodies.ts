import type { UnreadableReason } from '../../gateways/body/payload.ts'
import type { RefusalWords } from './refusal.ts'

const stranger = 'It does not come from the provider, or something in front has changed it.'
const strangers =
  'Nothing, if it is rare: strangers try every address. If the provider sends it, report it.'
const forged = 'Somebody may have changed a genuine callback so that it reads as another one.'
const lookAtPayment =
  'Nothing is lost: the provider sends the genuine one, and payments are polled. If the provider sends it, report it.'

const because = (meaning: string): RefusalWords => ({ meaning, cause: stranger, fix: strangers })
const shifted = (meaning: string): RefusalWords => ({ meaning, cause: forged, fix: lookAtPayment })

/** Of bodies that must be read before their signature can be checked. */
const unreadable: Readonly<Record<UnreadableReason, RefusalWords>> = {
  empty: because('It has no body.'),
  invalid_utf8: because('The body is no text.'),
  nul_character: because('The body has a character in it that no text has.'),
  invalid_json: because('The body is no valid JSON.'),
  duplicate_key: because('The body says one thing twice.'),
  too_deep: because('The body is nested deeper than any that the provider sends.'),
  too_many_fields: because('The body has more fields than any that the provider sends.'),
  invalid_form: because('The body is no valid form.'),
}

export const bodyRefusals = {
  ...unreadable,
  body_not_an_object: because('The body is JSON, but has no fields.'),
  data_missing: because('The field with what is signed is not there.'),
  data_malformed: because('The field with what is signed cannot be decoded.'),
  field_nested: because('The body has fields that other programs would read as the signed ones.'),
  signed_field_missing: because('One of the signed fields is not there.'),
  signed_field_empty: because('One of the signed fields is empty.'),
  signed_field_not_scalar: because('One of the signed fields is neither a text nor a number.'),
  signed_field_has_separator: shifted(
    'One of the signed fields contains the character that stands between them.',
  ),
  signed_field_ill_formed: because('One of the signed fields is no well-formed text.'),
  name_too_long: because('The name of a field is longer than any of the provider.'),
  name_not_ascii: because('The name of a field has characters that no name of the provider has.'),
  value_not_scalar: because('A signed value is neither a text nor a number.'),
  value_not_text: because('A signed value has characters in it that no text has.'),
  additional_info_malformed: shifted('The field with further data cannot be read.'),
  fields_shifted: shifted('Signed values stand under other names than they were signed for.'),
  separator_in_value: shifted('A signed value contains the character that stands between them.'),
  fields_ambiguous: shifted('The signed text could be read in more than one way.'),
}
