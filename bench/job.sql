begin;
select call.id as call_id, call.payload, job.payment_id
  from (select id, payload from billing.webhook_calls where state = 'pending'
    order by next_attempt_at, id limit 1 for update skip locked) as call
  join jobs as job on job.call_id = call.id \gset
select status, amount, currency from billing.payments where id = :payment_id for update;
update billing.payments set status = 'paid', updated_at = statement_timestamp()
  where id = :payment_id and status = 'pending';
insert into billing.payment_transitions (id, payment_id, from_status, to_status, cause, webhook_call_id)
  values (gen_random_uuid(), :payment_id, 'pending', 'paid', 'call', :call_id);
insert into billing.events (id, dedup_key, type, payment_id, webhook_call_id, source)
  values (gen_random_uuid(), 'paid:' || :payment_id::text, 'PaymentSucceeded', :payment_id, :call_id, 'call')
  on conflict (dedup_key) do nothing;
update billing.webhook_calls
  set state = 'processed', payment_id = :payment_id, processed_at = statement_timestamp()
  where id = :call_id;
commit;
