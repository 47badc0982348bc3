-- Active instructions and memories with a key are few among many: contexts and profiles ask for them each time.
CREATE INDEX memories_instructing ON records (shelf, id) WHERE type = 'memory' AND status = 'active' AND kind = 'instruction';
CREATE INDEX memories_keyed ON records (shelf, id) WHERE type = 'memory' AND status = 'active' AND instr(body, '"key":"') > 0;
